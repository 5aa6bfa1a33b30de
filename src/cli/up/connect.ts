import { forgetHostKey } from '../../identity/host-key.ts'
import { type Crew, gather } from '../../lifecycle/connected-agents.ts'
import { HostKeys } from '../../lifecycle/host-key-store.ts'
import { sharedOf } from '../../plan/shared-data.ts'
import { toldAside } from '../../lifecycle/event-stream.ts'
import type { Wish } from '../../lifecycle/build-proposal.ts'
import type { Leaver } from '../../lifecycle/hosts-to-remove.ts'
import type { Session } from '../../lifecycle/session.ts'
import { type Host, host as hostSchema } from '../../spec/host.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { Context, Invocation } from '../command.ts'
import { carriedFor } from '../bundle/bundle-files.ts'
import { openWays } from '../ssh-connector.ts'
import { saveHostKeys } from '../load-identity.ts'
import type { ReportedRun } from '../run-with-progress.ts'
import { runFlags } from '../run-flags.ts'
import { listed } from '../format-text.ts'

export interface Reached extends AsyncDisposable {
  readonly crew: Crew
  readonly leavers: LeaverCrew
  /** With the keys of hosts that were met for the first time, and the agents they have now. */
  readonly wish: Wish
}

/** Those who have to leave the cluster. They are known only once others were asked. */
export interface LeaverCrew {
  readonly sessions: ReadonlyMap<string, Session>
  /** Goes to them; answers with those of them that answer. */
  readonly meet: (leavers: readonly Leaver[]) => Promise<ReadonlyMap<string, Session>>
}

/** Goes to all hosts, and brings them their agents. `former` are hosts that the file had until now. */
export async function reach(
  context: Context,
  options: Invocation['options'],
  loaded: Wish,
  { tell }: ReportedRun,
  signal: AbortSignal,
  former: readonly Host[] = [],
): Promise<Reached> {
  const { cluster } = loaded
  const { forgetHostKey: forgotten } = runFlags.parse(options)
  const keys = new HostKeys(forgotten.reduce(forgetHostKey, loaded.identity))
  const ways = await openWays(context.operator, options.file, cluster, keys)
  const remotes = new Set<Remote>()
  const met = new Set<string>()
  const step = 'reach'
  const connect = async (host: Host, either: AbortSignal): Promise<Remote> => {
    const about = { host: host.name }
    const since = context.now().toISOString()
    tell({ type: 'waiting', for: 'its ssh server to answer', since }, about)
    const remote = await ways.connect(host, either)
    remotes.add(remote)
    // The second time it is a way that was lost, in the middle of another step.
    if (!met.has(host.name)) tell({ type: 'step-started', step }, about)
    met.add(host.name)
    return remote
  }
  const close = async (): Promise<void> => {
    await Promise.allSettled([...remotes].map(async (remote) => remote.close()))
    ways.close()
  }
  const release = once(context.release)
  const go = async (hosts: readonly Host[]): Promise<Crew> => {
    const names = hosts.map(({ name }) => name)
    return toldAside({ tell, signal }, { step, title: `reach ${listed(names)}`, hosts: names }, async () =>
      gather(hosts, {
        connect,
        release,
        carried: carriedFor(context, options.file, loaded),
        setup: { ...sharedOf(loaded.lock), cluster, system: { os: 'windows', arch: 'amd64' } },
        tell,
        met: (host) => tell({ type: 'step-ended', step, result: { outcome: 'done' } }, { host }),
        signal,
      }),
    )
  }
  const leaving = new Map<string, Session>()
  const meet: LeaverCrew['meet'] = async (leavers) => {
    const { sessions } = await go(leavers.map((leaver) => hostOf(leaver, former)))
    for (const [name, session] of sessions) leaving.set(name, session)
    return sessions
  }
  try {
    const crew = await go(cluster.spec.hosts)
    if (keys.changed) await saveHostKeys(context, options, keys.identity)
    const wish = {
      ...loaded,
      identity: keys.identity,
      version: (host: string) => crew.agents.get(host) ?? '',
    }
    return {
      crew,
      leavers: { sessions: leaving, meet },
      wish,
      async [Symbol.asyncDispose]() {
        await crew.close()
        await Promise.allSettled([...leaving.values()].map(async (session) => session.close()))
        await close()
      },
    }
  } catch (error) {
    // Who has come only half of the way leaves connections behind that would keep us alive.
    await close()
    throw error
  }
}

/** The file may say how to reach it, else it is where the others find it. */
function hostOf({ host: name, address, os }: Leaver, former: readonly Host[]): Host {
  return former.find((one) => one.name === name) ?? hostSchema.parse({ name, address, os, roles: ['worker'] })
}

/** For each kind of host once: its digest is taken of a large file. */
function once(release: Context['release']): Context['release'] {
  const known = new Map<string, ReturnType<Context['release']>>()
  return async (arch, os) => {
    const kind = `${os}/${arch}`
    const found = known.get(kind) ?? release(arch, os)
    known.set(kind, found)
    return found
  }
}
