import { restoreSuite } from '../support/restore-suite.ts'

restoreSuite({ name: 'restore', shape: '1+1', kubernetes: 'v1.37.1', keys: 2000 })
