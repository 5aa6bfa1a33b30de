import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { parseShape, shapeHosts } from '../../lab/cluster/shape.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Identity } from '../../src/identity/identity.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import type { PlanDocument } from '../../src/lifecycle/plan-document.ts'
import { clientOf } from './client-certificate.ts'
import { type HostSnapshot, snapshot } from './host-snapshot.ts'
import { mortalHosts } from './lab.ts'
import { newOperator, type Operator, type OperatorOptions } from './operator.ts'

export interface UpOptions extends OperatorOptions {
  /** Whether hosts can lose their power. */
  readonly mortal?: boolean
  /** Before anything is planned. */
  readonly prepare?: (operator: Operator) => Promise<void>
}

/** A cluster made by a person: with the shipped executable, from a cluster.yml, over ssh. */
export interface UpCluster {
  readonly lab: Lab
  readonly hosts: readonly Host[]
  readonly api: KubeApi
  /** Where cluster.yml and what belongs to it are. */
  readonly directory: string
  /** How the hosts were before anything was put on them. */
  readonly before: ReadonlyMap<string, HostSnapshot>
  /** What `plan` said before `up`. */
  readonly plan: PlanDocument
  /** What `up` said the first time. */
  readonly first: CommandResult
  readonly identity: Identity
  readonly operator: Operator
  hyperkube(...words: readonly string[]): Promise<CommandResult>
  close(): Promise<void>
}

export async function upCluster(
  lab: Lab,
  shape: string,
  kubernetes: string,
  options: UpOptions = {},
): Promise<UpCluster> {
  const names = shapeHosts(parseShape(shape))
  const hosts = options.mortal === true ? await mortalHosts(lab, names) : await lab.up(names)
  const operator = await newOperator(lab, hosts, kubernetes, options)
  await options.prepare?.(operator)
  const { directory, hyperkube } = operator
  const before = new Map(
    await settleAll(hosts.map(async (host) => [host.name, await snapshot(host)] as const)),
  )
  const plan = await operator.plan()
  const first = await operator.must(0, 'up', '--plan', operator.planFile)
  const [any] = hosts
  const identity = await operator.identity()
  const admin = await clientOf(identity, 'kubernetes', 'test', ['hyperkube:admins'])
  const api = new KubeApi(`https://${any?.address}:6443`, admin)
  return {
    lab,
    hosts,
    api,
    directory,
    before,
    plan,
    first,
    identity,
    hyperkube,
    operator,
    async close() {
      api.close()
      await operator.close()
    },
  }
}
