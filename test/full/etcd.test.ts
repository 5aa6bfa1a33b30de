import { etcdSuite } from '../support/etcd-suite.ts'

etcdSuite('v1.36.4')
