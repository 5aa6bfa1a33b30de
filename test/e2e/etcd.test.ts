import { etcdSuite } from '../support/etcd-suite.ts'

// The full suite covers the other version.
etcdSuite('v1.37.1')
