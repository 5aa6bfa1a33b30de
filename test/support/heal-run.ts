import type { Host } from '../../lab/hosts/host.ts'
import { until } from '../../src/kit/poll-until.ts'
import { BusyCluster, type BusyFigures } from './busy-cluster.ts'
import { commandIn, lineOf, namedBy } from './heal-doctor.ts'
import type { HealRun } from './heal-figures.ts'
import type { HealRow } from './heal-row.ts'
import type { HealScene } from './heal-cluster.ts'
import { disturbed, serviceRuns } from './service-runs.ts'
import { Witness } from './heal-observer.ts'

const counted = '/api/v1/namespaces/default/configmaps?labelSelector=counted'
/** Until `doctor` names a fault that lasts, and until it is silent again. */
const [toName, toBeSilent] = [150_000, 240_000]

/** One fault on a host of a cluster in use, from quiet to quiet. Whatever goes wrong is in what it answers with. */
export async function healRun(scene: HealScene, row: HealRow, host: Host): Promise<HealRun> {
  const wrong: string[] = []
  const note = (error: unknown): undefined => void wrong.push(text(error))
  const before = row.untouched === true ? await serviceRuns(scene.hosts) : undefined
  const busy = await BusyCluster.open(scene.apiBeside(host), clientsOf(scene, row, host), scene.credentials)
  await busy.isUnderWay().catch(note)
  let course: Course = { began: Date.now(), mended: undefined, healed: undefined }
  const witness = new Witness(scene, course.began)
  try {
    await row.inject(scene, host)
    course = await courseOf(scene, row, host, { witness, began: course.began })
  } catch (error) {
    note(error)
  } finally {
    await row.undo(scene, host).catch(note)
    // What was to heal by itself and did not has been mended by hand now.
    if (course.healed === undefined) await healed(scene, row, host).catch(note)
    await witness[Symbol.asyncDispose]()
  }
  const figures = await busy.stop(scene.apiBeside(host)).catch(note)
  await forgetWrites(scene, host).catch(note)
  const left = before === undefined ? undefined : disturbed(before, await serviceRuns(scene.hosts))
  await scene.quiet(toBeSilent).catch(note)

  const { began, healed: end } = course
  const from = witness.detected ?? began
  const to = course.mended ?? end ?? Date.now()
  const named = namedBy(row, { host: host.name, from, to }, witness.told)
  if (named === 'not first') note(`doctor said something else first: ${said(witness) ?? 'nothing'}`)
  if (witness.doctorFailed !== undefined) note(witness.doctorFailed)
  for (const name of figures?.lost ?? []) note(`${name} was acknowledged and is lost`)
  for (const name of left?.others ?? []) note(`${name} began anew, and nobody was to touch it`)
  if (left !== undefined) for (const restart of witness.restarts) note(`an agent restarted ${restart}`)
  return {
    host: host.name,
    detected: witness.detected === undefined ? undefined : witness.detected - began,
    healed: end === undefined ? undefined : end - (course.mended ?? began),
    ...figuresOf(figures),
    actions: witness.actions,
    told: naming(witness, row, host) ?? said(witness),
    named,
    leftByThemselves: left?.leaders,
    wrong,
  }
}

/** Moments, of the machine's clock. */
interface Course {
  readonly began: number
  /** When the world was well again, or an operator had typed what they were told. */
  readonly mended: number | undefined
  readonly healed: number | undefined
}

async function courseOf(
  scene: HealScene,
  row: HealRow,
  host: Host,
  { witness, began }: { readonly witness: Witness; readonly began: number },
): Promise<Course> {
  if (row.expects === 'heals') {
    return { began, mended: undefined, healed: await healed(scene, row, host) }
  }
  const finding = await until(
    `doctor to name ${row.what} first`,
    async () => witness.naming(row, host.name),
    { within: toName },
  ).catch((error: unknown) => {
    throw new Error(`${text(error)}; it said ${said(witness) ?? 'nothing'}`, { cause: error })
  })
  if (row.expects === 'refuses') {
    if (finding.command === undefined) throw new Error('doctor does not say what to type')
    await scene.operator.must(0, ...commandIn(finding.command))
  } else {
    const lasts = row.lasts ?? 0
    await until('it to last', async () => Date.now() - began >= lasts, { within: lasts + 60_000, every: 500 })
    await row.undo(scene, host)
  }
  const mended = Date.now()
  return { began, mended, healed: await healed(scene, row, host) }
}

/** When all works, and the agent of the host says so. */
async function healed(scene: HealScene, row: HealRow, host: Host): Promise<number> {
  return until(
    `${row.what} on ${host.name} to heal`,
    async () => (await row.healed(scene, host)) && (await scene.agentSaysWell(host)) && Date.now(),
    { within: row.within, every: 300 },
  )
}

/** A worker hears itself what is wrong with it, when it is not off; of control planes, w2 does. */
function clientsOf(scene: HealScene, { clients }: HealRow, { name }: Host): Host {
  if (clients === 'there') return scene.host(name.startsWith('w') ? name : 'w2')
  return scene.host(name === 'w2' ? 'w1' : 'w2')
}

/** So that the next run has to look for its own alone. */
async function forgetWrites(scene: HealScene, host: Host): Promise<void> {
  await until('the writes to be forgotten', async () => (await scene.apiBeside(host).remove(counted), true), {
    within: 90_000,
    every: 1000,
  })
}

function figuresOf(
  figures: BusyFigures | undefined,
): Pick<HealRun, 'apiFailed' | 'serviceFailed' | 'acknowledged' | 'lost'> {
  return {
    apiFailed: figures?.api.failed.length ?? 0,
    serviceFailed: figures?.service.failed.length ?? 0,
    acknowledged: figures?.writes.acknowledged.length ?? 0,
    lost: figures?.lost.length ?? 0,
  }
}

function naming(witness: Witness, row: HealRow, host: Host): string | undefined {
  const finding = witness.naming(row, host.name)
  return finding === undefined ? undefined : lineOf(finding)
}

function said({ firstFinding }: Witness): string | undefined {
  return firstFinding === undefined ? undefined : lineOf(firstFinding)
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
