import { upSuite } from '../support/up-suite.ts'

// The other shapes and versions are in the full suite; the older minor version is behind the air gap, too.
upSuite('3+2', 'v1.37.1', { addons: true, conformance: true })
