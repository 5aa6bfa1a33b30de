import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { listHostNames, parseShape } from '../../lab/cluster/shape.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Identity } from '../../src/identity/identity.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import type { PlanDocument } from '../../src/lifecycle/proposal/plan-approval.ts'
import { issueClientCertificate } from './client-certificate.ts'
import { type HostSnapshot, takeHostSnapshot } from './host-snapshot.ts'
import { startHostsOnDisk } from './lab.ts'
import { createOperator, type Operator, type OperatorOptions } from './operator.ts'

export interface UpClusterOptions extends OperatorOptions {
  /** True if hosts must survive a power cut. */
  readonly survivesPowerCut?: boolean
  /** Called before the first plan, for example to edit cluster.yml. */
  readonly prepare?: (operator: Operator) => Promise<void>
}

/** A cluster created by an operator with the shipped executable, from cluster.yml, over ssh. */
export interface UpCluster {
  readonly lab: Lab
  readonly hosts: readonly Host[]
  readonly api: KubeApi
  /** Directory of cluster.yml and its companion files. */
  readonly directory: string
  /** State of the hosts before any change. */
  readonly before: ReadonlyMap<string, HostSnapshot>
  /** Output of `plan` before `up`. */
  readonly plan: PlanDocument
  /** Output of the first `up`. */
  readonly firstUp: CommandResult
  readonly identity: Identity
  readonly operator: Operator
  hyperkube(...words: readonly string[]): Promise<CommandResult>
  close(): Promise<void>
}

export async function createUpCluster(
  lab: Lab,
  shape: string,
  kubernetes: string,
  options: UpClusterOptions = {},
): Promise<UpCluster> {
  const names = listHostNames(parseShape(shape))
  const hosts = options.survivesPowerCut === true ? await startHostsOnDisk(lab, names) : await lab.up(names)
  const operator = await createOperator(lab, hosts, kubernetes, options)
  await options.prepare?.(operator)
  const { directory, hyperkube } = operator
  const before = new Map(
    await settleAll(hosts.map(async (host) => [host.name, await takeHostSnapshot(host)] as const)),
  )
  const plan = await operator.plan()
  const firstUp = await operator.must(0, 'up', '--plan', operator.planFile)
  const [anyHost] = hosts
  const identity = await operator.identity()
  const admin = await issueClientCertificate(identity, 'kubernetes', 'test', ['hyperkube:admins'])
  const api = new KubeApi(`https://${anyHost?.address}:6443`, admin)
  return {
    lab,
    hosts,
    api,
    directory,
    before,
    plan,
    firstUp,
    identity,
    hyperkube,
    operator,
    async close() {
      api.close()
      await operator.close()
    },
  }
}
