import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseShape, shapeHosts } from '../../lab/cluster/shape.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { type Course, courseOf } from './up-phases.ts'
import { interruptedRound } from './interrupted-round.ts'
import { interruptions } from './interruption.ts'
import { type Evidence, evidenceText } from './interruption-evidence.ts'
import type { Known } from './cluster-invariants.ts'
import { freshLab, mortalHosts } from './lab.ts'
import { newOperator, type Operator } from './operator.ts'
import { undo, type Undoing } from './pending-work.ts'

export interface InterruptionSuite {
  /** Of its lab. */
  readonly name: string
  readonly shape: string
  readonly rounds: number
  /** What there is to do, in turns. */
  readonly undoings: readonly Undoing[]
  /** What is written down of it, in docs/evidence. */
  readonly evidence: string
}

const kubernetes = '1.37.1'

/** Something happens to `up` at random points, and the next one finishes. */
export function interruptionSuite({
  name,
  shape,
  rounds: count,
  undoings,
  evidence: file,
}: InterruptionSuite): void {
  const seed = Number(process.env['INTERRUPTIONS_SEED'] ?? randomInt(2 ** 31))
  const names = shapeHosts(parseShape(shape))
  const rounds = interruptions(seed, count, names).map((interruption, turn) => ({
    turn,
    interruption,
    undoing: undoings[turn % undoings.length] ?? 'drift',
  }))
  let lab: Lab
  let operator: Operator
  let before: Known | undefined
  const courses = new Map<Undoing, Course>()
  const results: Evidence['rounds'][number][] = []

  beforeAll(async () => {
    process.stderr.write(`interruptions: seed ${seed}\n`)
    lab = await freshLab(name)
    operator = await newOperator(lab, await mortalHosts(lab, names), kubernetes)
    // Nobody waits here for an API server to end gracefully, thrice in every round.
    await operator.edit((document) =>
      document.setIn(['spec', 'components', 'apiServer', 'args'], {
        'shutdown-delay-duration': '0s',
        'shutdown-watch-termination-grace-period': '0s',
      }),
    )
    courses.set('fresh hosts', courseOf(await operator.plan()))
  })
  afterAll(async () => {
    try {
      const version = (await operator.must(0, 'version')).stdout.trim().split('\n')[0] ?? ''
      const evidence = { date: new Date(), hyperkube: version, kubernetes, shape, seed, rounds: results }
      await writeFile(join(import.meta.dirname, '../../docs/evidence', file), evidenceText(evidence))
      await operator.close()
    } finally {
      await lab.down()
    }
  })

  /** What is the same each time is foreseen once: to look at hosts without anything brings them an agent. */
  const courseAfter = async (undoing: Undoing): Promise<Course> => {
    const course = courses.get(undoing) ?? courseOf(await operator.plan())
    courses.set(undoing, course)
    return course
  }

  test.each(rounds)(
    'round $turn, $undoing, $interruption.kind: the next up finishes, and the cluster is the same',
    { timeout: 1_200_000 },
    async ({ turn, undoing, interruption }) => {
      await undo(operator, undoing, turn)
      if (undoing === 'fresh hosts' || undoing === 'an older version') before = undefined
      const course = await courseAfter(undoing)
      const result = await interruptedRound(operator, lab, { interruption, course, before })
      before = result.known
      results.push({ ...result, undoing })
      const { moment, ended, recovery, wrong } = result
      process.stderr.write(
        `${turn} ${interruption.kind} at ${moment}: ${ended}; then ${recovery.toFixed(1)} s\n`,
      )
      expect(wrong).toEqual([])
    },
  )
}
