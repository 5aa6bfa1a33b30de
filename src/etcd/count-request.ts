/** Base64 of a zero byte. A range from it to itself selects all keys. */
const zeroByte = 'AA=='

/**
 * Builds a range request that counts all keys in the data of the contacted member. Default: at the newest
 * revision.
 */
export function buildCountRequest(revision?: number): object {
  return {
    key: zeroByte,
    range_end: zeroByte,
    count_only: true,
    serializable: true,
    ...(revision === undefined ? {} : { revision: String(revision) }),
  }
}
