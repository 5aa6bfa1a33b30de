/** How many of so many workers may be away at once. At least one, or nothing could ever change. */
export function maxUnavailable(wish: number | string, workers: number): number {
  const share = typeof wish === 'string' ? /^(\d+)%$/.exec(wish)?.[1] : undefined
  const count = share === undefined ? Number(wish) : Math.floor((workers * Number(share)) / 100)
  return count >= 1 ? Math.floor(count) : 1
}
