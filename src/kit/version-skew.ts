/** Maximum number of minor versions that a kubelet may be older than its API servers. */
export const maxKubeletSkew = 3
