import type { ErrorCodeEntries } from './entry.ts'

export const bundleCodes: ErrorCodeEntries = {
  IMAGE_NOT_FOUND: {
    summary: 'Neither the registry nor its mirrors provide the image.',
    meaning: 'The message lists the servers in the order of `spec.registries`, each with its response.',
    remedy:
      'Add the image to the mirror, or fix the connection: `curl -vI URL` with a URL from the message. Then run the same command again.',
  },
  IMAGE_NO_PLATFORM: {
    summary: 'The image does not exist for an architecture of the cluster hosts.',
    remedy: '`hyperkube lock --arch amd64` locks only that architecture. Then run `hyperkube bundle create`.',
  },
  IMAGE_NO_RUNTIME: {
    summary: 'hyperkube cannot load an image on a host because containerd does not respond.',
    meaning: 'containerd was just started and may have exited since.',
    remedy:
      'Check `systemctl status containerd` and `journalctl -u containerd` on the host. Then run the same command again.',
  },
  IMAGE_NOT_PULLED: {
    summary: 'A host could not pull a required image.',
    meaning:
      'Its registry and the mirrors in `spec.registries` are unreachable or lack the image. The error of containerd follows the colon.',
    remedy:
      '`crictl pull IMAGE` on the host shows the same error. Set a mirror in `spec.registries`, or create a bundle with `hyperkube bundle create`.',
  },
  REGISTRY_NO_TOKEN: {
    summary: 'A registry refuses anonymous requests.',
    meaning:
      'cluster.yml has no login for this server. A mirror needs an entry of its own in `spec.registries`.',
    remedy:
      'Set `username` and `password: { secret: NAME }` for the server in `spec.registries`, and run `hyperkube secret set NAME`. Or set a mirror with anonymous access. Then run `hyperkube lock`.',
  },
  REGISTRY_LOGIN_REFUSED: {
    summary: 'A registry or mirror demands a login, or refuses the login (401).',
    meaning: 'The user name or the password is wrong, or the account may not read this image.',
    remedy:
      'Check `username` in `spec.registries`. Store the password again with `hyperkube secret set NAME`, and repeat the command.',
  },
  REGISTRY_WRONG_DIGEST: {
    summary: 'The content from a registry does not match its digest.',
    meaning: 'A proxy changes the content, or a mirror is damaged. hyperkube kept nothing of it.',
    remedy:
      '`curl -fsSL URL | sha256sum` on several machines shows where it changes. Fix that mirror or proxy.',
  },
  REGISTRY_NOT_A_MANIFEST: {
    summary: 'A registry returned something that is not an image manifest.',
    meaning: 'The usual cause is the login page of a proxy. hyperkube did not pin it.',
    remedy: '`curl -fL URL` with the URL from the message shows the content. Fix the mirror or the proxy.',
  },
  BUNDLE_NOT_READ: {
    summary: 'hyperkube cannot read the bundle that `spec.artifacts` or the command names.',
    meaning: 'A relative path starts at the directory of cluster.yml.',
    remedy:
      'Check `ls -l FILE`. If it does not exist, run `hyperkube bundle create` on a machine with internet access.',
  },
  BUNDLE_DAMAGED: {
    summary: 'A bundle was changed after it was created. The message names the first part that differs.',
    meaning:
      'The usual causes are an interrupted copy or a failing disk. hyperkube uses nothing of that part.',
    remedy: 'Copy the bundle again from its source, then run `hyperkube bundle verify FILE`.',
  },
  BUNDLE_NOT_TRUSTED: {
    summary: 'A bundle is not signed by this cluster.',
    meaning: 'Its table of contents was changed, or it was created with the identity of another cluster.',
    remedy:
      'Copy it again. To trust the bundle of another cluster, run `hyperkube bundle verify FILE --public-key KEY`. Get that key over a separate channel.',
  },
  BUNDLE_KEY_NOT_READ: {
    summary: 'The given public key is invalid.',
    remedy: '`hyperkube bundle create` prints the key: 44 characters, the last one is `=`.',
  },
  BUNDLE_TWO_VERSIONS: {
    summary:
      'Workers have another Kubernetes version than control planes, and a bundle has the files of one version.',
    meaning: '`cluster.lock` has pins of both versions. No bundle was created.',
    remedy:
      'Bring workers to the version of the control planes with `hyperkube upgrade --to VERSION`. Then create the bundle.',
  },
  BUNDLE_INCOMPLETE: {
    summary: 'The bundle lacks files or images that the cluster needs.',
    meaning:
      'It was created for another version, for other hosts, or before an addon was enabled. Nothing was sent to any host.',
    remedy:
      'On a machine with internet access run `hyperkube lock`, then `hyperkube bundle create`. Copy the lock and the bundle together.',
  },
  BUNDLE_NOT_DELIVERED: {
    summary: 'A host cannot store the contents of the bundle.',
    meaning: 'The disk is full, or root cannot use the directory in the message.',
    remedy:
      'Check `df -h /var/lib` on the host. Then run the same command again; it skips files that have arrived.',
  },
  BUNDLE_WRONG_BYTES: {
    summary: 'A file for a bundle does not match cluster.lock.',
    meaning:
      'A mirror is damaged, upstream has replaced the file, or a fetched part was changed on the disk. hyperkube did not add it to the bundle.',
    remedy:
      '`hyperkube lock --check` shows whether upstream has changed it. Otherwise fix the mirror or the disk, and run the same command again.',
  },
  BUNDLE_NOT_PINNED: {
    summary: 'cluster.lock lists an image without a digest.',
    meaning:
      'An older release that did not pin images wrote the lock. Without a digest the image cannot be verified.',
    remedy: 'Run `hyperkube lock`, commit the result, then run `hyperkube bundle create`.',
  },
  BUNDLE_TOO_LARGE: {
    summary: 'A file is too large for a bundle.',
    meaning: 'The limit is 8 GiB, far above the size of any component.',
    remedy: '`hyperkube lock --check` shows which file the lock names. Fix the mirror that provided it.',
  },
}
