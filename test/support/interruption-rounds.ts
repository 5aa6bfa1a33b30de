import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { parseShape, listHostNames } from '../../lab/cluster/shape.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { type UpPhases, listUpPhases } from './up-phases.ts'
import { runInterruptedRound, type RoundResult } from './interrupted-round.ts'
import { type Interruption, planInterruptions } from './interruption.ts'
import {
  formatInterruptionEvidence,
  type InterruptionEvidence,
  type InterruptionPage,
} from './interruption-evidence.ts'
import type { ClusterInvariants } from './cluster-invariants.ts'
import { openFreshLab, startHostsOnDisk } from './lab.ts'
import { createOperator, type Operator } from './operator.ts'
import { createWork, type WorkKind } from './pending-work.ts'

export interface InterruptionOptions {
  /** Name of the lab. */
  readonly name: string
  readonly shape: string
  readonly rounds: number
  /** Reasons for `up` to have work, used in turn. */
  readonly workKinds: readonly WorkKind[]
  /** Page in docs/evidence. */
  readonly evidence: InterruptionPage
}

/** One `up` that has work to do and is interrupted. */
export interface InterruptedRound {
  readonly turn: number
  readonly interruption: Interruption
  readonly work: WorkKind
}

/** Rounds for `test.each`, and the function that runs one of them. */
export interface InterruptionRounds {
  readonly rounds: readonly InterruptedRound[]
  readonly runRound: (round: InterruptedRound) => Promise<RoundResult>
}

const kubernetes = '1.37.1'

/**
 * Plans interruptions of `up` at random points. The hosts start before the first test. After the last test
 * the evidence is written and the hosts stop.
 */
export function setUpInterruptions({
  name,
  shape,
  rounds: count,
  workKinds,
  evidence: page,
}: InterruptionOptions): InterruptionRounds {
  const seed = Number(process.env['INTERRUPTIONS_SEED'] ?? randomInt(2 ** 31))
  const names = listHostNames(parseShape(shape))
  const rounds = planInterruptions(seed, count, names).map((interruption, turn) => ({
    turn,
    interruption,
    work: workKinds[turn % workKinds.length] ?? 'drift',
  }))
  let lab: Lab
  let operator: Operator
  let before: ClusterInvariants | undefined
  const phasesByWork = new Map<WorkKind, UpPhases>()
  const results: InterruptionEvidence['rounds'][number][] = []

  beforeAll(async () => {
    process.stderr.write(`interruptions: seed ${seed}\n`)
    lab = await openFreshLab(name)
    operator = await createOperator(lab, await startHostsOnDisk(lab, names), kubernetes)
    // Disables the graceful shutdown of API servers, which would slow down every round.
    await operator.edit((document) =>
      document.setIn(['spec', 'components', 'apiServer', 'args'], {
        'shutdown-delay-duration': '0s',
        'shutdown-watch-termination-grace-period': '0s',
      }),
    )
    phasesByWork.set('fresh hosts', listUpPhases(await operator.plan()))
  })
  afterAll(async () => {
    try {
      const version = (await operator.must(0, 'version')).stdout.trim().split('\n')[0] ?? ''
      const evidence = {
        page,
        date: new Date(),
        hyperkube: version,
        kubernetes,
        shape,
        seed,
        rounds: results,
      }
      await writeFile(
        join(import.meta.dirname, '../../docs/evidence', `${page}.md`),
        formatInterruptionEvidence(evidence),
      )
      await operator.close()
    } finally {
      await lab.down()
    }
  })

  /**
   * Plans the phases only once for each kind of work. Planning again would install an agent on empty hosts,
   * which must stay empty until `up` runs.
   */
  const listPhasesOf = async (work: WorkKind): Promise<UpPhases> => {
    const phases = phasesByWork.get(work) ?? listUpPhases(await operator.plan())
    phasesByWork.set(work, phases)
    return phases
  }

  return {
    rounds,
    async runRound({ turn, work, interruption }) {
      await createWork(operator, work, turn)
      if (work === 'fresh hosts' || work === 'an older version') before = undefined
      const phases = await listPhasesOf(work)
      const result = await runInterruptedRound(operator, lab, { interruption, phases, before })
      before = result.invariants
      results.push({ ...result, work })
      const { moment, ended, recovery } = result
      process.stderr.write(
        `${turn} ${interruption.kind} at ${moment}: ${ended}; then ${recovery.toFixed(1)} s\n`,
      )
      return result
    },
  }
}
