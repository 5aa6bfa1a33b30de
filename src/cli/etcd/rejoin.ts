import { HyperkubeError } from '../../kit/errors.ts'
import { type Place, placesIn } from '../../lifecycle/host-endpoints.ts'
import { makeReadyToJoin } from '../../lifecycle/rejoin.ts'
import { type Surroundings, surroundings } from '../../lifecycle/cluster-client.ts'
import { exitCodes } from '../command.ts'
import { loadWish } from '../load-inputs.ts'
import { type ReportedRun, reportedRun, type Verdict } from '../run-with-progress.ts'
import { agreed } from '../up/confirm.ts'
import { leash } from '../up/deferred-abort.ts'
import { remotesOf, viewOf } from '../up/propose.ts'
import { type Reached, reach } from '../up/connect.ts'
import { runUp } from '../up/run-up.ts'
import { underClaim } from '../up/operator-lock.ts'
import { listed } from '../format-text.ts'
import type { EtcdAction, EtcdScene } from './action.ts'

/** Brings a host back into etcd whose member has lost its data, or has damaged data: as a new member, which learns all from the others. */
export const rejoin: EtcdAction = async (scene) => {
  const { context, options, flags, cluster, name } = scene
  const place = placesIn(cluster).find(({ host, etcd }) => etcd && host === name)
  if (place === undefined) {
    const members = placesIn(cluster).filter(({ etcd }) => etcd)
    context.stderr.write('USAGE: which member? hyperkube etcd rejoin HOST\n')
    context.stderr.write(`  → one of ${listed(members.map(({ host }) => host))}\n`)
    return exitCodes.usage
  }
  const command = `etcd rejoin ${place.host}`
  const wish = await loadWish(context, options, cluster)
  const settings = {
    command,
    cluster: cluster.metadata.name,
    progress: flags.progress,
    debug: options.debug === true,
  }
  const ended = await reportedRun(context, settings, async (run) => {
    using way = leash(context.signal)
    await using reached = await reach(context, options, wish, run, way.signal)
    const view = viewOf(reached.wish, context, remotesOf(reached.crew))
    using around = await surroundings(placesIn(cluster), { ...view, signal: way.signal })
    await refuseUnfit(cluster, place, around)
    return await makeReady(scene, place, { ...reached, around, run, begin: way.letGo })
  })
  if (ended.code !== exitCodes.ok) return ended.code
  return runUp(context, { ...options, yes: true }, { command, cluster, findings: [] })
}

/** Nobody is taken out who is well, and nobody whom the others cannot do without. */
async function refuseUnfit(
  cluster: EtcdScene['cluster'],
  { host }: Place,
  around: Pick<Surroundings, 'members' | 'etcdWell'>,
): Promise<void> {
  if ((await around.etcdWell([host])) === undefined) {
    throw new HyperkubeError('ETCD_REJOIN_WELL', 'its member of etcd is well, and has nothing to join anew', {
      host,
      hint: 'hyperkube etcd status',
    })
  }
  const others = placesIn(cluster).filter((one) => one.etcd && one.host !== host)
  if ((await around.members()).length > 0 && others.length > 0) return
  throw new HyperkubeError('ETCD_REJOIN_NOBODY', 'no other members of etcd have a quorum to learn from', {
    host,
    hint: 'from what is left of it, or from a snapshot: hyperkube etcd recover',
  })
}

interface Ready extends Reached {
  readonly around: Pick<Surroundings, 'leaveEtcd'>
  readonly run: ReportedRun
  /** From now on hosts are waited for, though somebody interrupts. */
  readonly begin: () => void
}

async function makeReady(
  { context, options, flags }: EtcdScene,
  { host }: Place,
  { around, run, begin, ...reached }: Ready,
): Promise<Verdict> {
  const session = reached.crew.sessions.get(host)
  if (session === undefined) {
    throw new HyperkubeError('ETCD_REJOIN_AWAY', 'the host does not answer, and nothing was done', {
      host,
      hint: `bring it back first; one that is lost for good: hyperkube node remove ${host}`,
    })
  }
  run.say(
    [
      `${host} joins etcd anew:`,
      '  the other members forget it, and go on without it',
      '  what is left of its data is moved aside, and kept on the host',
      '  it learns everything from the others, and votes when it has caught up (as hyperkube up does)',
      '',
    ].join('\n'),
  )
  if (flags.dryRun) return { code: exitCodes.changesPending, result: { outcome: 'unchanged' } }
  const answer = await agreed(context, options, flags.progress !== 'json')
  if (answer !== true) return { code: answer, result: { outcome: 'unchanged' } }
  begin()
  await underClaim({ ...reached, context, run, forceUnlock: flags.forceUnlock }, async ({ claim }, signal) =>
    makeReadyToJoin(session, { membership: around, claim, tell: run.tell, signal }),
  )
  return { code: exitCodes.ok, result: { outcome: 'done' } }
}
