import { etcdBorn, etcdLog, etcdUnit } from '../../contract/etcd-restore.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { printable } from '../../kit/printable.ts'
import { accessOf } from '../apply/planned-access.ts'
import type { LinuxHost } from '../host/host.ts'
import type { UnitState } from '../host/systemd.ts'
import { damageIn } from './etcd-damage.ts'

/** Why nothing may be done to a component: it would risk data. */
export interface Danger {
  readonly code: 'ETCD_DATA_LOST' | 'ETCD_DATA_DAMAGED'
  readonly because: string
  /** What to type. */
  readonly hint: string
}

/** What systemd says of a unit; whoever knows it already need not ask again. */
type AskUnit = (unit: string) => Promise<UnitState>

/** What one attempt to start writes, and the one before it. */
const lastLines = 60

/**
 * What must not be healed, by component. A member that is seen to live is written down as born, so that it is known
 * later that it has lost its data; nothing else is changed.
 */
export async function dangersOf(
  host: LinuxHost,
  plan: NodePlan,
  ask: AskUnit = async (unit) => host.systemd.show(unit),
): Promise<ReadonlyMap<string, Danger>> {
  if (!plan.components.some(({ name }) => name === 'etcd')) return new Map()
  const danger = await etcdDanger(host, plan, ask)
  return new Map(danger === undefined ? [] : [['etcd', danger]])
}

async function etcdDanger(host: LinuxHost, plan: NodePlan, ask: AskUnit): Promise<Danger | undefined> {
  const { files, systemd } = host
  const isBorn = (await files.stat(etcdBorn)) !== undefined
  const hasData = ((await files.list(etcdLog)) ?? []).length > 0
  if (isBorn && !hasData) {
    const because = `a member of etcd lived here, and ${etcdLog} is empty or gone; it is not started with nothing`
    return { code: 'ETCD_DATA_LOST', because, hint: remedy(plan) }
  }
  const { active, sub } = await ask(etcdUnit)
  if (active === 'active') {
    if (!isBorn && hasData) await writeBorn(host)
    return undefined
  }
  // One that is just starting may still mend itself.
  if (!hasData || (active === 'activating' && sub !== 'auto-restart')) return undefined
  const damage = damageIn(await systemd.lines(etcdUnit, lastLines))
  if (damage === undefined) return undefined
  const because = `etcd does not start: ${printable(damage)}`
  return { code: 'ETCD_DATA_DAMAGED', because, hint: remedy(plan) }
}

async function writeBorn(host: LinuxHost): Promise<void> {
  const access = await accessOf(host, { owner: 'root', mode: '0644' })
  await host.files.write(etcdBorn, Buffer.from(''), access)
}

/** As long as others know all that it knew, it comes back as a new one; alone it needs what was kept elsewhere. */
function remedy({ host, components }: NodePlan): string {
  const birth = components
    .find(({ name }) => name === 'etcd')
    ?.files.map(({ content }) => (content.kind === 'text' ? content.text : ''))
    .find((text) => text.includes('ETCD_INITIAL_CLUSTER='))
  const members = /^ETCD_INITIAL_CLUSTER=(.*)$/m.exec(birth ?? '')?.[1]?.split(',').length ?? 1
  if (members < 2) return 'where cluster.yml is: hyperkube etcd snapshot restore, or hyperkube etcd recover'
  return `where cluster.yml is, while the other members are well: hyperkube etcd rejoin ${host}`
}
