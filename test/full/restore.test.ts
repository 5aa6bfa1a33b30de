import { restoreSuite } from '../support/restore-suite.ts'

restoreSuite({ name: 'restore-full', shape: '3+1', kubernetes: 'v1.37.1', keys: 100_000 })
