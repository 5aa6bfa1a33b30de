/** Summarizes a code in one sentence. The report prints the evidence below it. */
export function summarizeCode(code: string, component: string): string {
  return summaries[code]?.(component) ?? `${component} is not healthy`
}

const summaries: Readonly<Record<string, (component: string) => string>> = {
  HEALTH_NOT_RUNNING: (name) => `${name} is not running`,
  HEALTH_NO_RESPONSE: (name) => `${name} runs, but does not answer`,
  HEALTH_CHECK_FAILED: (name) => `${name} reports that it is unhealthy`,
  RUNTIME_NOT_READY: () => 'the container runtime is not ready, so that no pod can start or stop',
  RUNTIME_NO_NETWORK: () => 'the container runtime has no pod network, so that no pod can start',
  OVERLAY_INTERFACE: () => 'the interface of the pod network is missing, down, or has another address',
  OVERLAY_ROUTES: () => 'routes to the pods of other nodes are missing',
  OVERLAY_SUBNET: () => 'the subnet file does not match the pod network of the node',
  SERVICE_RULES: () => 'the packet filter has no rules for the services of the cluster',
  SANDBOX_NOT_JOINED: () => 'a pod that starts now cannot join the network',
  NODE_LEASE_OLD: () => 'the node has not renewed its lease for a while',
  PEERS_UNREACHABLE: () => 'other nodes are unreachable from this one',
  DISK_SLOW: (name) => `the disk under ${name} is slow`,
  DISK_FULL: (name) => `the disk under ${name} is full`,
  CERTIFICATE_EXPIRED: (name) => `a certificate of ${name} has expired`,
  CERTIFICATE_DUE: (name) => `a certificate of ${name} expires soon and was not renewed`,
  CLOCK_OFF: () => 'its clock is wrong',
  ETCD_NO_QUORUM: () => 'its etcd member reaches no quorum',
  API_NOT_READY: () => 'its API server is not ready',
  API_UNREACHABLE: () => 'it cannot reach any API server',
  HEAL_EXHAUSTED: (name) => `${name} does not recover, and healing is exhausted`,
  HEAL_BUDGET_SPENT: (name) => `${name} is not healthy, and its agent has used its healing budget`,
  HEAL_NEEDS_OPERATOR: (name) => `${name} lacks resources that only an operator can repair`,
  ETCD_DATA_LOST: () => 'the data of its etcd member is lost',
  ETCD_DATA_DAMAGED: () => 'the data of its etcd member is damaged',
}
