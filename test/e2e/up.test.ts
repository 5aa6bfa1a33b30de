import { upSuite } from '../support/up-suite.ts'

// The other shapes and versions are in the full suite.
upSuite('1+1', 'v1.36.4')
upSuite('3+2', 'v1.37.1', { addons: true })
