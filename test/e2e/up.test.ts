import { upSuite } from '../support/up-suite.ts'

// The other shapes are in the full suite; the newer version is set up anew behind the air gap.
upSuite('3+2', 'v1.36.4', { addons: true, heals: true, lives: 'v1.37.1', conformance: true })
