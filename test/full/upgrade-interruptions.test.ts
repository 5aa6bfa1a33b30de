import { interruptionSuite } from '../support/interruption-suite.ts'

interruptionSuite({
  name: 'interrupt-upgrade',
  shape: '1+1',
  rounds: Number(process.env['UPGRADE_ROUNDS'] ?? 20),
  workKinds: ['an older version'],
  evidence: 'upgrade-interruptions.md',
})
