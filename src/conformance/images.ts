/**
 * Conformance tests that need an image, by image name. Each test is given by the start of its name. Taken
 * from the Kubernetes 1.37 sources (uses of imageutils.Nginx and others in test/e2e). Images that nearly all
 * tests need (agnhost, busybox, pause) are not listed.
 */
export const testsByImage: Readonly<Record<string, readonly string[]>> = {
  nginx: [
    '[sig-api-machinery] Garbage collector should delete pods created by rc when not orphaning',
    '[sig-api-machinery] Garbage collector should orphan pods created by rc if delete',
    '[sig-api-machinery] Garbage collector should delete RS created by deployment when not orphaning',
    '[sig-api-machinery] Garbage collector should orphan RS created by deployment when',
    '[sig-api-machinery] Garbage collector should keep the rc around until all its pods are deleted',
    '[sig-api-machinery] Garbage collector should not delete dependents that have both valid owner and owner',
    '[sig-api-machinery] Garbage collector should not be blocked by dependency circle',
    '[sig-apps] ReplicationController should test the lifecycle of a ReplicationController',
    '[sig-network] EndpointsController should create Endpoints for Pods matching a Service',
    '[sig-network] EndpointSlice should create Endpoints and EndpointSlices for Pods matching a Service',
    '[sig-node] Pods Extended (pod generation) Pod Generation pod generation should start at 1 and increment',
  ],
  'glibc-dns-testing': [
    '[sig-network] DNS should provide DNS for the cluster',
    '[sig-network] DNS should provide /etc/hosts entries for the cluster',
    '[sig-network] DNS should provide DNS for services',
    '[sig-network] DNS should resolve DNS of partial qualified names for services',
    '[sig-network] DNS should provide DNS for pods for Hostname',
    '[sig-network] DNS should provide DNS for pods for Subdomain',
    '[sig-network] DNS should provide DNS for ExternalName services',
  ],
  'sample-apiserver': ['[sig-api-machinery] Aggregator Should be able to support the 1.17 Sample API Server'],
  etcd: ['[sig-api-machinery] Aggregator Should be able to support the 1.17 Sample API Server'],
  nautilus: [
    '[sig-cli] Kubectl client Update Demo should create and stop a replication controller',
    '[sig-cli] Kubectl client Update Demo should scale a replication controller',
  ],
  kitten: ['[sig-node] ImageVolume should succeed with pod and pull policy of Always'],
  nonewprivs: [
    '[sig-node] Security Context when creating containers with AllowPrivilegeEscalation should not allow privilege escalation when false',
  ],
}

/** Returns the first of the given images that the test needs. */
export function findNeededImage(test: string, images: readonly string[]): string | undefined {
  return images.find((image) => testsByImage[image]?.some((prefix) => test.startsWith(prefix)))
}
