import { interruptionSuite } from '../support/interruption-suite.ts'

interruptionSuite({
  name: 'interrupt-full',
  shape: '3+1',
  rounds: 30,
  workKinds: ['fresh hosts', 'a changed cluster.yml', 'drift'],
  evidence: 'interruptions.md',
})
