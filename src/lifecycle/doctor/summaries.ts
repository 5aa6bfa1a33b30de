/** What is the case, by code, of what probes and agents tell; what they saw stands below it. */
export function sentenceOf(code: string, component: string): string {
  return sentences[code]?.(component) ?? `${component} is not well`
}

const sentences: Readonly<Record<string, (component: string) => string>> = {
  HEALTH_NOT_RUNNING: (name) => `${name} does not run`,
  HEALTH_NO_ANSWER: (name) => `${name} is there, and does not answer`,
  HEALTH_UNWELL: (name) => `${name} says itself that it is not well`,
  RUNTIME_NOT_READY: () => 'the container runtime is not ready, and no pod can start or end',
  RUNTIME_NO_NETWORK: () => 'the container runtime has no network for pods, and none can start',
  OVERLAY_INTERFACE: () => 'the interface of the pod network is gone, down, or has another address',
  OVERLAY_ROUTES: () => 'routes to the pods of other nodes are missing',
  OVERLAY_SUBNET: () => 'the file with the pod network of this node does not say what the node was given',
  SERVICE_RULES: () => 'the packet filter does not know the services of the cluster',
  SANDBOX_NOT_JOINED: () => 'a pod that starts now cannot be joined to the network',
  NODE_LEASE_OLD: () => 'the node has not told the API of itself for a while',
  NEIGHBOURS_SILENT: () => 'other nodes do not answer this one',
  DISK_SLOW: (name) => `the disk under ${name} is slow`,
  DISK_FULL: (name) => `the disk under ${name} is full`,
  CERTIFICATE_EXPIRED: (name) => `a certificate of ${name} has expired`,
  CERTIFICATE_DUE: (name) => `a certificate of ${name} expires soon, and has not been renewed`,
  CLOCK_OFF: () => 'its clock is off',
  ETCD_NO_QUORUM: () => 'its member of etcd does not hear enough of the others',
  API_NOT_READY: () => 'its API server is not ready',
  API_NOT_REACHED: () => 'it reaches no API server',
  HEAL_GAVE_UP: (name) => `${name} does not get well, and its agent has given up`,
  HEAL_BUDGET_SPENT: (name) => `${name} is not well, and its agent has done as much as it may for now`,
  HEAL_NEEDS_OPERATOR: (name) => `${name} lacks what only an operator can bring`,
  ETCD_DATA_LOST: () => 'the data of its member of etcd is gone',
  ETCD_DATA_DAMAGED: () => 'the data of its member of etcd is damaged',
}
