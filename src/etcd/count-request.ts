/** Base64 of a zero byte: as the first key it is the beginning of all, and as the last one their end. */
const zero = 'AA=='

/** What a range is asked with that counts all keys, of the newest revision or of one before, at the member that is asked. */
export function allKeys(revision?: number): object {
  return {
    key: zero,
    range_end: zero,
    count_only: true,
    serializable: true,
    ...(revision === undefined ? {} : { revision: String(revision) }),
  }
}
