import { HyperkubeError } from '../../../kit/errors.ts'
import { placesIn } from '../../../lifecycle/host-endpoints.ts'
import { nameOf } from '../../../snapshot/name.ts'
import { exitCodes } from '../../command.ts'
import { whomToAsk } from '../../prompts.ts'
import { tableText } from '../../table.ts'
import { listed } from '../../format-text.ts'
import { restoreFrom } from '../restore/restore.ts'
import { keepSnapshot } from '../save.ts'
import type { EtcdAction, EtcdScene } from '../action.ts'
import { sourceOf } from '../verify.ts'
import { workDirectory } from '../work-directory.ts'
import { type Candidate, columnsFor, placeOf, ranked } from './candidate.ts'
import { snapshots, survivors } from './find-candidates.ts'

/**
 * Brings a cluster back that has lost most members of its etcd for good: shows what is left and what each would lose, takes
 * a snapshot of a member that is chosen, and restores from it.
 */
export const recover: EtcdAction = async (scene) => {
  const { context, flags, cluster } = scene
  const { stderr, paintProgress } = context
  const left = await survivors(scene)
  const candidates = ranked([...left.candidates, ...(await snapshots(scene))])
  const [best] = candidates
  if (best === undefined) throw nothingLeft()
  stderr.write(tableText(columnsFor(best.revision, context.now()), candidates, paintProgress))
  const members = placesIn(cluster).filter(({ etcd }) => etcd)
  stderr.write(`the new etcd is made of what cluster.yml names: ${listed(members.map(({ host }) => host))}\n`)
  if (left.leftOut.length > 0) {
    stderr.write(`taken for lost: ${listed(left.leftOut)}; make sure that they are off for good\n`)
  }
  // Whoever is left out was named above.
  const informed = { ...scene, flags: { ...flags, ignore: [...flags.ignore, 'ETCD_RESTORE_LEFT_OUT'] } }
  if (flags.dryRun) return rehearse(informed, best)
  const chosen = await choose(scene, candidates, best)
  if (chosen === undefined) {
    stderr.write('USAGE: from which one? There is nobody to ask, and nothing was done\n')
    stderr.write(`  → --yes takes ${best.name}\n`)
    return exitCodes.usage
  }
  const name = chosen.kind === 'snapshot' ? chosen.name : await keep(scene, chosen)
  return restoreFrom(informed, await sourceOf(at(scene, chosen), name))
}

/** The same without its hands: what a member knows is only kept for the time. */
async function rehearse(scene: EtcdScene, best: Candidate): ReturnType<EtcdAction> {
  const { kind, name } = best
  if (kind === 'snapshot') return restoreFrom(scene, await sourceOf(at(scene, best), name))
  await using work = await workDirectory()
  const { path } = work
  const aside = { ...scene, flags: { ...scene.flags, to: path, from: path } }
  const { name: taken } = await keepSnapshot(aside, ...nameFor(scene), name)
  return await restoreFrom(aside, await sourceOf(aside, taken))
}

/** Looks for a snapshot where it was seen. */
function at(scene: EtcdScene, chosen: Candidate): EtcdScene {
  return { ...scene, flags: { ...scene.flags, from: placeOf(chosen, scene.flags) } }
}

/** All that the member knows is in a file before anything of it is touched. */
async function keep(scene: EtcdScene, { name: member }: Candidate): Promise<string> {
  const { name, places } = await keepSnapshot(scene, ...nameFor(scene), member)
  scene.context.stderr.write(`${name}: all that ${member} knows, in ${listed(places)}\n`)
  return name
}

function nameFor({ context, cluster }: EtcdScene): readonly [string, Date] {
  const now = context.now()
  return [`recovered-${nameOf(cluster.metadata.name, now)}`, now]
}

async function choose(
  { context, options }: EtcdScene,
  candidates: readonly Candidate[],
  best: Candidate,
): Promise<Candidate | undefined> {
  if (options.yes === true) return best
  const questions = whomToAsk(context, options)
  if (questions === undefined) return undefined
  const chosen = await questions.select({
    message: 'from which one shall the cluster come back?',
    choices: candidates.map(({ name }) => ({
      value: name,
      label: name === best.name ? `${name}, which knows most` : name,
    })),
    fallback: best.name,
  })
  return candidates.find(({ name }) => name === chosen) ?? best
}

function nothingLeft(): HyperkubeError {
  return new HyperkubeError(
    'ETCD_RECOVER_NOTHING',
    'no member of etcd answers, and there is no snapshot in the places of spec.etcd.backup',
    { hint: 'a snapshot that is elsewhere: hyperkube etcd snapshot restore FILE' },
  )
}
