import type { LookName } from "./looks.ts"

/** Tokens with a known prefix. Columns: kind, prefixes, the rest, and a check for short prefixes. */
export const PREFIXED = String.raw`
aws-access-key	AKIA ASIA ABIA ACCA	[A-Z0-9]{16}(?![A-Za-z0-9])
aws-bedrock-key	ABSK	[A-Za-z0-9+/]{100,}={0,2}
github-token	ghp_ gho_ ghu_ ghs_ ghr_	[A-Za-z0-9_]{36,}(?:\.eyJ[\w-]*(?:\.[\w-]*)?)?
github-fine-grained-token	github_pat_	[A-Za-z0-9_]{22,}
gitlab-token	glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt- GR1348941	[\w-]{20,}(?:\.[\w-]{2}\.[\w-]{7,})?
slack-token	xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxe- xoxe.xoxp- xoxe.xoxb- xapp-	[A-Za-z0-9-]{16,}
slack-webhook	https://hooks.slack.com/ hooks.slack.com/	(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}
stripe-key	sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_	[A-Za-z0-9]{16,}
stripe-webhook-secret	whsec_	[A-Za-z0-9+/]{24,}={0,2}
anthropic-key	sk-ant-	[\w-]{20,}
openrouter-key	sk-or-v1-	[A-Za-z0-9]{32,}
openai-key	sk-proj- sk-svcacct- sk-admin- sk-None-	[\w-]{20,}
openai-key	sk-	[A-Za-z0-9]{32,}
groq-key	gsk_	[A-Za-z0-9]{40,}
xai-key	xai-	[A-Za-z0-9]{60,}
perplexity-key	pplx-	[A-Za-z0-9]{40,}
replicate-token	r8_	[A-Za-z0-9]{37,}
huggingface-token	hf_ api_org_	[A-Za-z0-9]{34,}
langsmith-key	lsv2_pt_ lsv2_sk_	[0-9a-f]{32}_[0-9a-f]{10}
tavily-key	tvly-	(?:dev-|prod-)?[A-Za-z0-9-]{28,}
google-api-key	AIza	[\w-]{35}(?![\w-])
google-oauth-token	ya29.	[\w.-]{20,}
google-oauth-secret	GOCSPX-	[\w-]{28}
google-refresh-token	1//0	[\w-]{40,}
azure-storage-key	AccountKey=	([A-Za-z0-9+/]{86}==)
azure-shared-key	SharedAccessKey=	([A-Za-z0-9+/]{42,}={0,2})
azure-sas	sig= sig%3D	([A-Za-z0-9%+/]{43,64}(?:%3D|%3d|=))
discord-webhook	https://discord.com/api/webhooks/ discord.com/api/webhooks/ discordapp.com/api/webhooks/	\d{17,20}/[\w-]{60,}
sendgrid-key	SG.	[\w-]{16,32}\.[\w-]{16,64}
mailgun-key	key- pubkey-	[0-9a-f]{32}(?![0-9A-Za-z])
npm-token	npm_	[A-Za-z0-9]{36,}
pypi-token	pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw	[\w-]{50,}
rubygems-key	rubygems_	[0-9a-f]{48}
crates-token	cio	[A-Za-z0-9]{32}(?![A-Za-z0-9])
docker-token	dckr_pat_ dckr_oat_	[\w-]{27,}
digitalocean-token	dop_v1_ doo_v1_ dor_v1_	[0-9a-f]{64}
heroku-key	HRKU-	[\w-]{36,}
cloudflare-token	v1.0-	[0-9a-f]{24}-[0-9a-f]{146}
newrelic-key	NRAK- NRJS- NRII- NRIQ- NRRA-	[A-Za-z0-9-]{19,}
shopify-token	shpat_ shpca_ shppa_ shpss_	[0-9a-fA-F]{32,}
square-token	sq0atp- sq0csp- sq0idp- EAAAE EAAAF EAAAl	[\w-]{22,}
paypal-token	access_token$production$ access_token$sandbox$	[0-9a-z]{16}\$[0-9a-f]{32}
age-key	AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1	[A-Z0-9]{58,}
vault-token	hvs. hvb. hvr.	[\w-]{24,}
linear-key	lin_api_ lin_oauth_ lin_wh_	[A-Za-z0-9]{32,}
notion-token	ntn_ secret_	[A-Za-z0-9]{43,}
atlassian-token	ATATT3 ATCTT3 ATBB ATOA	[\w=+/-]{24,}
figma-token	figd_ figu_ figo_	[\w-]{40,}
supabase-key	sbp_ sb_secret_	[\w-]{31,}
1password-token	ops_eyJ	[\w=-]{100,}
databricks-token	dapi	[0-9a-f]{32}(?:-\d)?(?![0-9A-Za-z])
doppler-token	dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.	(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}
planetscale-token	pscale_pw_ pscale_tkn_ pscale_oauth_	[\w.=-]{32,}
grafana-token	glsa_ glc_	[A-Za-z0-9_+/=]{32,}
sentry-token	sntrys_ sntryu_	[\w+/=-]{40,}
netlify-token	nfp_ nfc_ nfo_ nfu_	[A-Za-z0-9]{36,}
fly-token	fm1r_ fm1a_ fm2_	[\w+/=,-]{60,}
render-key	rnd_	[A-Za-z0-9]{28,}
postman-key	PMAK-	[0-9a-f]{24}-[0-9a-f]{34}
pulumi-token	pul-	[0-9a-f]{40}
airtable-token	pat	[A-Za-z0-9]{14}\.[0-9a-f]{64}
hubspot-token	pat-na1- pat-eu1- pat-na2-	[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
resend-key	re_	[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])
sourcegraph-token	sgp_	(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}
buildkite-token	bkua_ bkpt_	[0-9a-f]{40}
circleci-token	CCIPAT_ CCIPRJ_	[\w]{40,}
dynatrace-token	dt0c01. dt0s16. dt0s08.	[A-Z2-7]{8,24}\.[A-Z2-7]{64}
contentful-token	CFPAT-	[\w-]{43}
razorpay-key	rzp_live_ rzp_test_	[A-Za-z0-9]{14,}
jwt	eyJ	[\w-]{8,300}\.eyJ[\w-]{8,}\.(?:[\w-]{16,})?
jwt	eyJ	[\w-]{8,300}\.[\w-]{0,2000}\.[\w-]{8,64}\.[\w-]{8,}\.[\w-]{16,64}
slack-token	xoxd-	(?:[A-Za-z0-9+/=_-]|%[0-9A-Fa-f]{2}){16,}
google-api-key	AQ.	[\w-]{35,}	mixed
google-auth-code	4/0A	[\w-]{50,}
firebase-token	APA91b	[\w-]{100,}
fireworks-key	fw_	[A-Za-z0-9]{22,}	mixed
elevenlabs-key	sk_	[0-9a-f]{48}(?![0-9A-Za-z])
cerebras-key	csk-	[a-z0-9]{40,}
nvidia-key	nvapi-	[\w-]{40,}
vercel-token	vcp_ vci_ vca_ vcr_ vck_	[A-Za-z0-9]{20,}	mixed
vercel-token	vercel_blob_rw_	[A-Za-z0-9_]{30,}
cloudflare-token	cfut_ cfat_ cfk_ cfoa_	[\w-]{36,}
cloudflare-token	eyJhIjoi	[\w+/=-]{80,}
posthog-key	phx_ phs_ phc_ phr_ pha_	[A-Za-z0-9_]{30,}	mixed
tailscale-key	tskey-	(?:[a-z]{2,12}-)?[A-Za-z0-9]{6,}(?:-[A-Za-z0-9]{16,})?	mixed
ngrok-key	ak_ cr_	[A-Za-z0-9]{27}(?:_[A-Za-z0-9]{21})?(?![A-Za-z0-9])	mixed
together-key	tgp_v1_	[\w-]{30,}
voyage-key	pa- al-	[\w-]{43,}	mixed
jina-key	jina_	[\w-]{40,}
brave-key	BSA	[\w-]{24,}	mixed
firecrawl-key	fc-	[0-9a-f]{32}(?![0-9A-Za-z])
llamaindex-key	llx-	[\w-]{30,}
langfuse-key	sk-lf- pk-lf-	[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
helicone-key	sk-helicone-	[\w-]{20,}
litellm-key	sk-litellm-	[\w-]{16,}
pinecone-key	pcsk_	[A-Za-z0-9_]{40,}
chroma-key	ck-	[A-Za-z0-9]{40,}	mixed
runpod-key	rpa_	[A-Z0-9]{30,}
modal-token	ak- as-	[A-Za-z0-9]{22}(?![\w-])	mixed
e2b-key	e2b_	[0-9a-f]{32,}
daytona-key	dtn_	[0-9a-f]{40,}
browserbase-key	bb_live_ bb_test_	[\w-]{20,}
apify-token	apify_api_	[A-Za-z0-9]{30,}
cursor-key	crsr_ key_	[0-9a-f]{60,}
factory-key	fk-	[\w-]{40,}	mixed
mem0-key	m0-	[A-Za-z0-9]{32,}	mixed
wandb-key	wandb_v1_	[\w-]{40,}
anyscale-key	esecret_ aph0_	[\w-]{20,}
neon-key	napi_	[a-z0-9]{40,}
neon-password	npg_	[A-Za-z0-9]{12,}	mixed
xata-key	xau_	[A-Za-z0-9]{28,}
prisma-key	prisma+postgres://accelerate.prisma-data.net/?api_key=	([\w.-]{40,})
scaleway-key	SCW	[A-Z0-9]{17}(?![A-Za-z0-9])	mixed
tencent-key	AKID	[A-Za-z0-9]{32}(?![A-Za-z0-9])	mixed
yandex-key	AQVN	[\w-]{35,38}(?![\w-])
aws-mws-token	amzn.mws.	[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
aws-session-token	IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz	[A-Za-z0-9+/=]{80,}
aws-bedrock-key	bedrock-api-key-	[A-Za-z0-9+/=]{40,}
signed-url	X-Amz-Signature= X-Goog-Signature= X-Amz-Signature%3D	([0-9a-fA-F]{40,})
signed-url	X-Amz-Security-Token=	([\w%+/=.-]{40,})
grafana-token	eyJrIjoi	[A-Za-z0-9]{60,}={0,3}
sentry-token	sntrya_	[0-9a-f]{60,}
honeycomb-key	hcaik_ hcalk_ hcamk_ hcbik_ hcxik_ hcxlk_	[a-z0-9]{50,}
axiom-token	xaat- xapt- xaut-	[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
checkly-key	cu_	[0-9a-f]{32}(?![0-9A-Za-z])
launchdarkly-key	sdk- api- mob- rel-	[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
statsig-key	secret- console-	[A-Za-z0-9]{40,}	mixed
snyk-token	snyk_uat. snyk_sat.	[0-9a-f]{8}\.[\w.-]{20,}
sonarqube-token	squ_ sqp_ sqa_ sqb_	[0-9a-f]{40}
artifactory-key	AKCp	[A-Za-z0-9]{60,}
artifactory-token	cmVmd	[A-Za-z0-9]{59}(?![A-Za-z0-9+/])
nuget-key	oy2	[a-z0-9]{43}(?![A-Za-z0-9])
packagist-token	packagist_ack_ packagist_uut_ packagist_out_	[0-9a-f]{40,}
buildkite-token	bkaj_ bkct_ bkat_ bkr_ bkpat_	[0-9a-zA-Z]{30,}
asana-token	1/1 2/1	\d{10,18}(?:/\d{10,18})?:[0-9a-f]{32}
trello-token	ATTA	[0-9a-f]{60,}
clickup-token	pk_	\d{5,12}_[A-Z0-9]{32}
klaviyo-key	pk_	[0-9a-f]{34}(?![0-9A-Za-z])
dropbox-token	sl.	(?:u\.)?[\w-]{100,}
canva-token	cnvca	[\w-]{40,}
intercom-token	dG9rO	[A-Za-z0-9+/]{40,}={0,2}
hubspot-token	pat-ap1- pat-eu2- pat-ca1-	[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
salesforce-token	00D	[A-Za-z0-9]{12,15}![\w.]{60,}
salesforce-token	5Aep861	[\w.]{60,}
shopify-token	shpua_ shptka_ shpit_	[0-9a-fA-F]{32,}
stripe-key	ek_live_ ek_test_ sk_org_	[\w]{24,}
adyen-key	AQE	[A-Za-z0-9]{2,8}[A-Za-z0-9+/]{60,}={0,2}-[\w+/={}()<>^*~.,;:!?@&%$-]{20,}
checkout-key	sk_sbox_ sk_	[a-z0-9]{26,28}[a-z*#$=](?![A-Za-z0-9_])	mixed
mollie-key	live_ test_	[A-Za-z0-9]{30}(?![A-Za-z0-9_])	mixed
flutterwave-key	FLWSECK- FLWSECK_TEST-	[0-9a-zA-Z]{20,}(?:-X)?
plaid-token	access-sandbox- access-development- access-production-	[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
gocardless-token	live_ sandbox_	[\w-]{40}(?![\w-])	mixed
wallet-key	xprv yprv zprv tprv	[1-9A-HJ-NP-Za-km-z]{100,112}
nostr-key	nsec1	[02-9ac-hj-np-z]{58}
brevo-key	xkeysib- xsmtpsib-	[0-9a-f]{64}-[A-Za-z0-9]{16}
mandrill-key	md-	[\w-]{22}(?![\w-])	mixed
elastic-key	essu_	[A-Za-z0-9+/=_-]{40,}
mapbox-token	sk.eyJ	[\w-]{40,}\.[\w-]{20,}
facebook-token	EAA	[A-Za-z0-9]{80,}
instagram-token	IGQV IGAA	[\w-]{80,}
stytch-key	secret-live- secret-test-	[\w-]{30,}=?
zapier-webhook	https://hooks.zapier.com/hooks/catch/ hooks.zapier.com/hooks/catch/	\d{4,12}/[A-Za-z0-9]{5,}
ifttt-key	maker.ifttt.com/trigger/	[\w-]{1,60}/(?:json/)?with/key/([\w-]{20,})
teams-webhook	webhook.office.com/webhookb2/	([\w@./-]{60,})
google-chat-webhook	chat.googleapis.com/v1/spaces/	[\w-]{4,40}/messages\?(key=[\w-]{20,}&token=[\w%-]{20,})
ntfy-token	tk_	[a-z0-9]{29}(?![A-Za-z0-9_])	mixed
netbird-token	nbp_	[A-Za-z0-9]{36}
docker-swarm-token	SWMTKN-1-	[a-z0-9]{40,}-[a-z0-9]{20,}
k3s-token	K10	[0-9a-f]{64}::[\w-]{1,40}:[\w-]{16,}
okta-token	SSWS 	([\w-]{30,})
typeform-token	tfp_	[\w.=-]{40,}
zuplo-key	zpka_	[\w-]{32,}
unkey-key	unkey_	[A-Za-z0-9]{20,}
trigger-key	tr_dev_ tr_prod_ tr_stg_ tr_pat_	[A-Za-z0-9]{20,}
inngest-key	signkey-prod- signkey-test- signkey-branch-	[0-9a-f]{32,}
liveblocks-key	sk_dev_	[\w-]{30,}
polar-token	polar_oat_ polar_pat_	[A-Za-z0-9]{30,}
paddle-key	pdl_live_apikey_ pdl_sdbx_apikey_	[\w]{30,}
convex-key	prod: dev: preview:	[a-z]+-[a-z]+-\d{2,4}\|[A-Za-z0-9+/=]{40,}
rootly-key	rootly_	[0-9a-f]{60,}
mergify-key	mka_	[\w-]{30,}
totp-secret	otpauth://totp/ otpauth://hotp/	[^\s"'<>]{1,200}?[?&]secret=([A-Z2-7]{16,})
`
  .trim()
  .split("\n")
  .map((row) => row.split("\t") as [kind: string, prefixes: string, rest: string, looks?: LookName])
