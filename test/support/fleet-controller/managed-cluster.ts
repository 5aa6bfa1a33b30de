import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import type { ClusterStatus } from '../../../src/contract/cluster-status.ts'
import { type DesiredDocument, signDocument } from '../../../src/fleet/desired-document.ts'
import { initialMemberState, type MemberState } from '../../../src/fleet/member-state.ts'
import { KubeClient } from '../../../src/kube/client.ts'
import { Watch } from '../../../src/kube/watch.ts'
import { WorkQueue } from '../../../src/kube/work-queue.ts'
import { patchObject } from '../../../src/kube/write-objects.ts'
import { requestMemberToken } from '../../../src/manager/fleet/member-access.ts'
import { FleetMember, memberTasks, type MemberTask } from '../../../src/manager/fleet/member.ts'
import { managedClusterKind } from '../../../src/manager/fleet/resources.ts'

export interface ManagementAccess {
  readonly servers: readonly string[]
  readonly ca: string
}

const healthy: ClusterStatus = {
  state: 'healthy',
  since: '2026-11-18T08:00:00.000Z',
  nodes: { all: 10, ready: 10, unschedulable: 0, kubelets: [{ version: 'v1.37.1', count: 10 }] },
  hosts: { all: 10, reporting: 10, agents: [{ version: '1.0.0', count: 10 }] },
  etcd: { members: 3, ready: 3 },
  findings: [],
}

/**
 * A simulated managed cluster: the real managed side with a real credential, whose own API is in memory. It
 * records each document that it applies.
 */
export class ManagedCluster implements AsyncDisposable {
  readonly name: string
  readonly id = randomUUID()
  readonly privateKey: KeyObject
  /** Generations that were applied, in order. */
  readonly applied: number[] = []
  /** If set, documents cannot be applied. */
  plantedFailure: Error | undefined
  state: MemberState = initialMemberState
  readonly #publicKey: KeyObject
  readonly #stop = new AbortController()
  #status = healthy
  #queue: WorkQueue | undefined
  #runs: Promise<unknown> = Promise.resolve()

  constructor(name: string) {
    this.name = name
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    this.privateKey = privateKey
    this.#publicKey = publicKey
  }

  /** Starts the managed side with a token that allows only its own Cluster object. */
  async start(admin: KubeClient, access: ManagementAccess): Promise<void> {
    const { token } = await requestMemberToken(admin, this.name)
    const { signal } = this.#stop
    const client = new KubeClient({ ...access, credentials: { token }, signal })
    const queue = new WorkQueue(this.name, { backoff: { initial: 50, max: 5000 } })
    this.#queue = queue
    const trust = { publicKey: this.#publicKey, cluster: this.id }
    const link = { name: this.name, client, trust, renewToken: async () => undefined }
    const member = new FleetMember({
      store: {
        read: async () => this.state,
        update: async (change) => (this.state = change(this.state)),
      },
      connect: async () => link,
      applyDocument: async (document) => this.#apply(document),
      settle: async () => undefined,
      readStatus: () => this.#status,
      enqueue: (task) => queue.add(task),
      now: () => new Date(),
      log: () => undefined,
    })
    for (const task of memberTasks) queue.add(task)
    const work = queue.run({ workers: 3, handle: async (key) => member.run(toTask(key)) }, signal)
    this.#runs = Promise.all([work, this.#watch(client, queue)])
  }

  /** Signs a new document and writes it to the Cluster object, as `fleet publish` does. */
  async publish(admin: KubeClient, generation: number): Promise<void> {
    const document: DesiredDocument = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'DesiredDocument',
      cluster: this.id,
      generation,
      addons: [],
    }
    const desired = { generation, ...signDocument(document, this.privateKey) }
    await patchObject(admin, managedClusterKind, { name: this.name }, { spec: { desired } })
  }

  set health(state: ClusterStatus['state']) {
    this.#status = { ...healthy, state, since: new Date().toISOString() }
    this.#queue?.add('report')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#runs
  }

  async #apply({ generation }: DesiredDocument): Promise<void> {
    if (this.plantedFailure !== undefined) throw this.plantedFailure
    if (this.applied.at(-1) !== generation) this.applied.push(generation)
  }

  async #watch(client: KubeClient, queue: WorkQueue): Promise<void> {
    const watch = new Watch(client, managedClusterKind, {
      fields: `metadata.name=${this.name}`,
      select: ({ metadata: { resourceVersion } }) => ({ resourceVersion }),
    })
    for await (const { type } of watch.changes(this.#stop.signal)) {
      if (type === 'deleted') continue
      queue.add('pull')
      queue.add('report')
    }
  }
}

function toTask(key: string): MemberTask {
  const task = memberTasks.find((one) => one === key)
  if (task === undefined) throw new Error(`there is no task ${key}`)
  return task
}
