import { etcdInitializedFile, etcdUnit, etcdWalDirectory } from '../../../contract/etcd-restore.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { toPrintable } from '../../../kit/text.ts'
import { resolveAccess } from '../../host/file-access.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { UnitState } from '../../host/service-manager.ts'

const database = 'its database is damaged'

/** Log messages of an etcd member that cannot start because of its data, each with its meaning. */
const signs: readonly (readonly [sign: RegExp, meaning: string])[] = [
  [/walpb: crc mismatch|wal: crc mismatch/i, 'its WAL has wrong checksums'],
  [
    /wal: (conflicting metadata|snapshot mismatch|snapshot not found|slice bounds)/i,
    'its WAL is inconsistent',
  ],
  [/failed to (read WAL, cannot be repaired|repair WAL|parse WAL)/i, 'its WAL cannot be read'],
  [/snap: (crc mismatch|empty snapshot|snapshot file doesn't exist)/i, 'its snapshot is damaged'],
  [/failed to recover v3 backend from snapshot/i, 'its database is older than its snapshot'],
  [/failed to open database.*(invalid|version mismatch|checksum|too small|mapped)/i, database],
  [/invalid (database|meta pages|freelist page|page type)|panic: freepages|already freed/i, database],
  [/above high water mark|(misplaced|unexpected) bucket header|assertion failed: Page/i, database],
  [/unexpected fault address|SIGBUS/i, 'its database file is truncated'],
  [/failed to unmarshal mvccpb\.KeyValue|cannot unmarshal confState/i, database],
  [
    /etcdserver: corrupt cluster|found data inconsistency with peers/i,
    'its data differs from the other members',
  ],
]

const maxLineLength = 200

/** Returns the newest log line that shows damage, with its meaning, or undefined if there is none. */
export function findEtcdDamage(lines: readonly string[]): string | undefined {
  for (const line of lines.toReversed()) {
    const meaning = signs.find(([sign]) => sign.test(line))?.[1]
    if (meaning !== undefined) return `${meaning}: ${line.slice(0, maxLineLength)}`
  }
  return undefined
}

/** Reason why healing must not act on etcd: starting the member would risk its data. */
export interface EtcdDataRisk {
  readonly code: 'ETCD_DATA_LOST' | 'ETCD_DATA_DAMAGED'
  readonly because: string
  /** Command for the operator. */
  readonly hint: string
}

/**
 * Returns the state of a unit. A caller that already knows the states passes a function that returns them.
 */
type ReadUnitState = (unit: string) => Promise<UnitState>

/** Number of log lines to read, enough for the last two start attempts. */
const lastLines = 60

/**
 * Finds components that must not be healed. Also marks a running etcd member as initialized, so a later loss
 * of its data is detected.
 */
export async function findDataRisks(
  host: LinuxHost,
  plan: NodePlan,
  readUnit: ReadUnitState = async (unit) => host.services.show(unit),
): Promise<ReadonlyMap<string, EtcdDataRisk>> {
  if (!plan.components.some(({ name }) => name === 'etcd')) return new Map()
  const risk = await findEtcdDataRisk(host, plan, readUnit)
  return new Map(risk === undefined ? [] : [['etcd', risk]])
}

async function findEtcdDataRisk(
  host: LinuxHost,
  plan: NodePlan,
  readUnit: ReadUnitState,
): Promise<EtcdDataRisk | undefined> {
  const { files, services } = host
  const isInitialized = (await files.stat(etcdInitializedFile)) !== undefined
  const hasData = ((await files.list(etcdWalDirectory)) ?? []).length > 0
  if (isInitialized && !hasData) {
    const because = `${etcdWalDirectory} of this etcd member is empty or missing; etcd is not started without data`
    return { code: 'ETCD_DATA_LOST', because, hint: formatHint(plan) }
  }
  const { active, sub } = await readUnit(etcdUnit)
  if (active === 'active') {
    if (!isInitialized && hasData) await markInitialized(host)
    return undefined
  }
  // The log of a member that is just starting is not checked, because the member may still repair its data.
  if (!hasData || (active === 'activating' && sub !== 'auto-restart')) return undefined
  // An unreadable journal must not stop the healing of all components. systemd starts the failed member again anyway.
  const damage = findEtcdDamage(await services.lines(etcdUnit, lastLines).catch(() => []))
  if (damage === undefined) return undefined
  const because = `etcd does not start: ${toPrintable(damage)}`
  return { code: 'ETCD_DATA_DAMAGED', because, hint: formatHint(plan) }
}

async function markInitialized(host: LinuxHost): Promise<void> {
  const access = await resolveAccess(host, { owner: 'root', mode: '0644' })
  await host.files.write(etcdInitializedFile, Buffer.from(''), access)
}

/**
 * Returns the command for the operator. A member of a larger cluster can rejoin as a new member while its
 * peers are healthy. A single member needs a snapshot or a recovery.
 */
function formatHint({ host, components }: NodePlan): string {
  const bootstrapText = components
    .find(({ name }) => name === 'etcd')
    ?.files.map(({ content }) => (content.kind === 'text' ? content.text : ''))
    .find((text) => text.includes('ETCD_INITIAL_CLUSTER='))
  const members = /^ETCD_INITIAL_CLUSTER=(.*)$/m.exec(bootstrapText ?? '')?.[1]?.split(',').length ?? 1
  if (members < 2)
    return 'in the directory of cluster.yml: hyperkube etcd recover, or hyperkube etcd snapshot restore NAME'
  return `if the other members are healthy, in the directory of cluster.yml: hyperkube etcd rejoin ${host}`
}
