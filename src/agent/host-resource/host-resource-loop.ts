import type { HostStatus } from '../../contract/host-resource.ts'
import type { KubeClient } from '../../kube/client.ts'
import { hosts } from '../../kube/host-resource.ts'
import { Watch, type WatchTiming } from '../../kube/watch.ts'
import { patchStatus } from '../../kube/write-objects.ts'
import { bellFor } from '../heal/wakeup.ts'
import type { Clock } from '../host/clock.ts'
import { type Look, rounds } from '../loop/run-loop.ts'
import { type AnswerScene, answerNext, resultsFor } from './handle-requests.ts'
import { isDue } from './status-due.ts'

/** What the agent says of its host, but for what belongs to requests. */
export type Told = Omit<HostStatus, 'heartbeat' | 'generation' | 'highest' | 'results' | 'conditions'>

export interface HostObjectScene extends AnswerScene {
  /** Speaks as the node of this host. */
  readonly client: KubeClient
  /** Of the host's node, and so of its object. */
  readonly name: string
  readonly told: (signal: AbortSignal) => Promise<Told>
  readonly clock: Clock
  /** Ends the line to the API. What is being done for it gets to its end: that ends with `signal`. */
  readonly line: AbortSignal
  /** Is told what is wrong with the line. It is tried again all the same. */
  readonly onTrouble?: (error: unknown) => void
  /** From 0 to 1. */
  readonly random: () => number
  readonly timing?: Partial<WatchTiming>
}

/** In milliseconds: how often is looked at how the host is, and at what is asked where nothing has happened. */
const usual = 15_000

/** Under this name the agent owns what it says. */
const manager = 'hyperkube-agent'

/**
 * Does what is asked through the host's object, and says there how the host is, until it shall end. What takes long keeps
 * nobody from hearing that the agent lives.
 */
export async function keepHostObject(scene: HostObjectScene): Promise<void> {
  const { client, name, clock, random, say, line, onTrouble, timing } = scene
  const watch = new Watch(client, hosts, {
    fields: `metadata.name=${name}`,
    select: ({ spec, status, metadata }) => ({
      ...{ requests: spec.requests ?? [], status, version: metadata.resourceVersion },
    }),
    ...(timing === undefined ? {} : { timing }),
    ...(onTrouble === undefined ? {} : { onTrouble }),
  })
  const [acting, telling] = [bellFor(clock), bellFor(clock)]
  const own = () => watch.current.get(name)
  /** What was written last, as long as the watch has not shown it. */
  let sent:
    | { readonly status: HostStatus; readonly version: string | undefined; readonly at: number }
    | undefined

  const act = async (): Promise<Look> => {
    acting.heard()
    const acted = await answerNext(scene, own()?.requests ?? [])
    telling.ring()
    return { next: acted ? 0 : usual, troubles: [] }
  }
  const tell = async (): Promise<Look> => {
    telling.heard()
    const object = own()
    // An operator makes it; nobody else says what the host is called.
    if (object === undefined) return { next: usual, troubles: [] }
    const now = clock.now()
    const { highest } = scene.book.memory
    // Before the rest: what is said to be done must be seen in what is told beside it.
    const results = resultsFor(scene, object.requests)
    const status: HostStatus = {
      ...(await scene.told(line)),
      heartbeat: now.toISOString(),
      generation: scene.generation(),
      ...(highest === undefined ? {} : { highest }),
      results,
    }
    if (sent !== undefined && now.getTime() - sent.at > usual) sent = undefined
    if (isDue(sent?.status ?? object.status, status, now.getTime())) {
      const { apiVersion, kind } = hosts
      const manifest = { apiVersion, kind, metadata: { name }, status }
      const { metadata } = await patchStatus(client, manifest, { force: true, manager, signal: line })
      sent = { status, version: metadata.resourceVersion, at: now.getTime() }
    }
    return { next: usual, troubles: [] }
  }
  const round = async (look: () => Promise<Look>, bell: typeof acting): Promise<void> =>
    rounds({
      ...{ look, first: 0, usual, random, say, signal: line },
      clock: { now: () => clock.now(), pause: async (ms, until) => bell.pause(ms, until) },
    })
  const listen = async (): Promise<void> => {
    for await (const change of watch.changes(line)) {
      if (change.type === 'deleted' || own()?.version === sent?.version) sent = undefined
      acting.ring()
      telling.ring()
    }
  }
  await Promise.all([listen(), round(act, acting), round(tell, telling)])
}
