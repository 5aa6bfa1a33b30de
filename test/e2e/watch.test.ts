import { watchSuite } from '../support/watch-suite.ts'

watchSuite({ name: 'watch', faults: 40, kills: 2, timeoutMs: 120_000, seed: 1_447_511_654 })
