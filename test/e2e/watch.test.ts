import { watchSuite } from '../support/watch-suite.ts'

watchSuite({ name: 'watch', cuts: 40, kills: 2, within: 120_000, seed: 1_447_511_654 })
