/** Binary search: the first of `count` sorted places that is not below the wanted one, or `count`. */
export function lowerBound(count: number, isBelow: (at: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBelow(middle)) low = middle + 1
    else high = middle
  }
  return low
}
