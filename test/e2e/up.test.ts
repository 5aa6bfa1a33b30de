import { upSuite } from '../support/up-suite.ts'

// The full suite covers other shapes; the air-gap test installs the newer Kubernetes version.
upSuite('3+2', 'v1.36.4', { addons: true, heals: true, upgradeTo: 'v1.37.1', conformance: true })
