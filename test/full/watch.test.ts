import { watchSuite } from '../support/watch-suite.ts'

watchSuite({ name: 'watch-full', faults: 1000, kills: 5, timeoutMs: 1_800_000 })
