/**
 * Minors of Kubernetes and etcd whose flags `npm run flags` has not read yet. Tests of flags skip these
 * minors.
 */
export const minorsWithoutFlags: readonly string[] = ['1.32', '1.33', '1.34']
