/** Minors of Kubernetes and etcd whose flags `npm run flags` has not read yet, so that they are not checked. */
export const minorsWithoutFlags: readonly string[] = ['1.32', '1.33', '1.34']
