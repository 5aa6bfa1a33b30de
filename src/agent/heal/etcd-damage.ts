const database = 'its database is damaged'

/** Log messages of an etcd member that cannot start because of its data, and what they mean. */
const signs: readonly (readonly [sign: RegExp, meaning: string])[] = [
  [/walpb: crc mismatch|wal: crc mismatch/i, 'its log does not match its checksums'],
  [
    /wal: (conflicting metadata|snapshot mismatch|snapshot not found|slice bounds)/i,
    'its log is inconsistent',
  ],
  [/failed to (read WAL, cannot be repaired|repair WAL|parse WAL)/i, 'its log cannot be read'],
  [/snap: (crc mismatch|empty snapshot|snapshot file doesn't exist)/i, 'its snapshot is damaged'],
  [/failed to recover v3 backend from snapshot/i, 'its database is older than its snapshot'],
  [/failed to open database.*(invalid|version mismatch|checksum|too small|mapped)/i, database],
  [/invalid (database|meta pages|freelist page|page type)|panic: freepages|already freed/i, database],
  [/above high water mark|(misplaced|unexpected) bucket header|assertion failed: Page/i, database],
  [/unexpected fault address|SIGBUS/i, 'its database is shorter than it should be'],
  [/failed to unmarshal mvccpb\.KeyValue|cannot unmarshal confState/i, database],
  [
    /etcdserver: corrupt cluster|found data inconsistency with peers/i,
    'it knows something else than the others',
  ],
]

const maxLineLength = 200

/** Returns the newest sign of damage with its log line; undefined if there is none. */
export function findEtcdDamage(lines: readonly string[]): string | undefined {
  for (const line of lines.toReversed()) {
    const meaning = signs.find(([sign]) => sign.test(line))?.[1]
    if (meaning !== undefined) return `${meaning}: ${line.slice(0, maxLineLength)}`
  }
  return undefined
}
