/** The newest Kubernetes version tested in the lab, and the oldest minor that hyperkube accepts. */
export const newestKubernetes = '1.37.1'
export const oldestKubernetes = '1.36'
