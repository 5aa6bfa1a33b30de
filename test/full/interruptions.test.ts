import { expect, test } from 'vitest'
import { setUpInterruptions } from '../support/interruption-rounds.ts'

const { rounds, runRound } = setUpInterruptions({
  name: 'interrupt-full',
  shape: '3+1',
  rounds: 30,
  workKinds: ['fresh hosts', 'a changed cluster.yml', 'drift'],
  evidence: 'interruptions',
})

test.each(rounds)(
  'round $turn, $work, $interruption.kind: the next up completes, and the cluster state is the same',
  { timeout: 1_200_000 },
  async (round) => {
    const { problems } = await runRound(round)
    expect(problems).toEqual([])
  },
)
