import type { Entries } from './entry.ts'

export const bundle: Entries = {
  IMAGE_NOT_FOUND: {
    summary: 'Neither the registry nor any mirror of it gives the image.',
    meaning: 'The message lists who was asked, in the order of `spec.registries`, and what each answered.',
    remedy:
      'Fill the mirror, or mend the way to the registry: `curl -vI URL` with a URL of the message. Then the same command again.',
  },
  IMAGE_NO_PLATFORM: {
    summary: 'The image is not made for an architecture of the cluster’s hosts.',
    remedy:
      '`hyperkube lock --arch amd64` locks for that architecture alone; then `hyperkube bundle create`.',
  },
  IMAGE_NO_RUNTIME: {
    summary: 'An image cannot be brought to a host because containerd does not answer there.',
    meaning: 'It was started a moment before, and may have ended since.',
    remedy:
      'On the host: `systemctl status containerd` and `journalctl -u containerd`. Then the same command again.',
  },
  IMAGE_NOT_PULLED: {
    summary: 'A host could not pull an image that shall be there before anything runs.',
    meaning:
      'Its registry and the mirrors of it in `spec.registries` do not give it: the way is blocked, or the image is not there. What containerd said of it stands behind the colon.',
    remedy:
      'On the host: `crictl pull IMAGE` shows the same. Name a mirror in `spec.registries`, or bring the images along: `hyperkube bundle create`.',
  },
  REGISTRY_NO_TOKEN: {
    summary: 'A registry lets nobody in who does not say who they are.',
    meaning:
      'hyperkube looks images up as nobody in particular; passwords of registries are for hosts alone.',
    remedy:
      'Name a mirror that answers anybody in your network, in `spec.registries`. Then `hyperkube lock`.',
  },
  REGISTRY_WRONG_DIGEST: {
    summary: 'What a registry gave is not what the digest says.',
    meaning: 'Somebody between changes what passes, or a mirror is damaged. Nothing of it was kept.',
    remedy:
      '`curl -fsSL URL | sha256sum` from several places shows where it changes. Mend that mirror or proxy.',
  },
  REGISTRY_NOT_A_MANIFEST: {
    summary: 'A registry answered with something that describes no image.',
    meaning: 'Often the page of a proxy that wants a login. It is not pinned.',
    remedy: '`curl -fL URL` with the URL of the message shows what comes. Mend the mirror or the way to it.',
  },
  BUNDLE_NOT_READ: {
    summary: 'The bundle that `spec.artifacts` or the command names cannot be read.',
    meaning: 'Its name counts from the directory of cluster.yml on.',
    remedy:
      '`ls -l FILE`; where there is none, make it on a machine with a way out: `hyperkube bundle create`.',
  },
  BUNDLE_DAMAGED: {
    summary: 'A bundle is not as it was made. The first part that differs is named.',
    meaning: 'Often a copy that was cut, or a medium that fails. Nothing of that part is used.',
    remedy: 'Copy it again from where it was made, then `hyperkube bundle verify FILE`.',
  },
  BUNDLE_NOT_TRUSTED: {
    summary: 'A bundle does not bear the signature of this cluster.',
    meaning:
      'What it says of its content was changed after it was made, or it was made with the identity of another cluster.',
    remedy:
      'Copy it again. For one that others made: `hyperkube bundle verify FILE --public-key KEY`, with the key that they tell you by another way.',
  },
  BUNDLE_KEY_NOT_READ: {
    summary: 'What was given as a public key is none.',
    remedy: '`hyperkube bundle create` prints it: 44 characters, the last one `=`.',
  },
  BUNDLE_LACKS: {
    summary: 'The bundle has not all that the cluster needs.',
    meaning:
      'It was made for another version, for other hosts, or before an addon was switched on. That is said before anything is sent to a host.',
    remedy:
      'Where there is a way out: `hyperkube lock`, then `hyperkube bundle create`. Bring lock and bundle together.',
  },
  BUNDLE_NOT_DELIVERED: {
    summary: 'A host cannot take in what is in the bundle.',
    meaning: 'There is no room, or the directory that the message names cannot be used by root.',
    remedy: 'On the host: `df -h /var/lib`. Then the same command again: what has arrived is not sent again.',
  },
  BUNDLE_WRONG_BYTES: {
    summary: 'A file for a bundle is another one than cluster.lock says.',
    meaning: 'A mirror is damaged, or upstream has replaced it. It is not put into the bundle.',
    remedy: '`hyperkube lock --check` says whether upstream has changed it; otherwise mend the mirror.',
  },
  BUNDLE_NOT_PINNED: {
    summary: 'cluster.lock names an image without its digest.',
    meaning:
      'The lock was made by a release that did not pin images. Nobody could tell later whether it is the right one.',
    remedy: '`hyperkube lock`, commit the result, then `hyperkube bundle create`.',
  },
  BUNDLE_TOO_LARGE: {
    summary: 'A file is too large for a bundle.',
    meaning: 'Files of up to 8 GiB fit. No program of the engine comes near it.',
    remedy: '`hyperkube lock --check` shows which file the lock names; mend the mirror that it came from.',
  },
}
