import { listServiceNames } from '../../lifecycle/observe/services.ts'

/** All services that any host can have. */
export const allServices: readonly string[] = listServiceNames({
  host: '',
  address: '',
  etcd: true,
  api: true,
  manager: true,
  virtualIP: true,
  flannel: true,
  kubeRouter: true,
  node: '',
})
