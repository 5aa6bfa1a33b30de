import { etcdSuite } from '../support/etcd-suite.ts'

// The full suite runs these tests with the other Kubernetes version.
etcdSuite('v1.37.1')
