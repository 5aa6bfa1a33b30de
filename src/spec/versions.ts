/**
 * Newest Kubernetes version that was tested in the lab. `oldestKubernetes` is the oldest minor that hyperkube
 * accepts.
 */
export const newestKubernetes = '1.37.1'
export const oldestKubernetes = '1.36'
