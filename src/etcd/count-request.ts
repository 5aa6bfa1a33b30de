/** Base64 of a zero byte: as start and end of a range it selects all keys. */
const zeroByte = 'AA=='

/** Builds a range request that counts all keys of the contacted member, at the newest or a given revision. */
export function buildCountRequest(revision?: number): object {
  return {
    key: zeroByte,
    range_end: zeroByte,
    count_only: true,
    serializable: true,
    ...(revision === undefined ? {} : { revision: String(revision) }),
  }
}
