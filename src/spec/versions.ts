/** The newest version of Kubernetes that ran in the lab, and the oldest minor that hyperkube takes. */
export const newestKubernetes = '1.37.1'
export const oldestKubernetes = '1.36'
