/** The same as src/surfaces/http/proof.ts makes: it shows that a key is known, without sending it. */
export async function proofOf(key: CryptoKey, ...parts: readonly string[]): Promise<string> {
  return base64url(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(JSON.stringify(parts))))
}

/** Nobody can read it back, not even this page. */
export function importedKey(key: string): Promise<CryptoKey> {
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  return crypto.subtle.importKey("raw", new TextEncoder().encode(key), algorithm, false, ["sign"])
}

export const newNonce = () => base64url(crypto.getRandomValues(new Uint8Array(24)).buffer)

function base64url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}
