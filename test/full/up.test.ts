import { upSuite } from '../support/up-suite.ts'

// The e2e suite runs 3+2 hosts with the older Kubernetes version.
upSuite('1+0', 'v1.36.4')
upSuite('1+0', 'v1.37.1')
upSuite('1+1', 'v1.36.4')
upSuite('1+1', 'v1.37.1')
upSuite('3+2', 'v1.37.1', { addons: true, idle: true })
