import { watchSuite } from '../support/watch-suite.ts'

watchSuite({ name: 'watch-full', cuts: 1000, kills: 5, within: 1_800_000 })
