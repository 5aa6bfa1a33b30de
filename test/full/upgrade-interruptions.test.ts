import { expect, test } from 'vitest'
import { setUpInterruptions } from '../support/interruption-rounds.ts'

const { rounds, runRound } = setUpInterruptions({
  name: 'interrupt-upgrade',
  shape: '1+1',
  rounds: Number(process.env['UPGRADE_ROUNDS'] ?? 20),
  workKinds: ['an older version'],
  evidence: 'upgrade-interruptions',
})

test.each(rounds)(
  'round $turn, $work, $interruption.kind: the next up completes, and the cluster state is the same',
  { timeout: 1_200_000 },
  async (round) => {
    const { problems } = await runRound(round)
    expect(problems).toEqual([])
  },
)
