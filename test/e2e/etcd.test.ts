import { etcdSuite } from '../support/etcd-suite.ts'

// The other version is in the full suite.
etcdSuite('v1.37.1')
