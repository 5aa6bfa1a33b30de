import { imageDirectory } from './artifacts.ts'

/** Script fragment that imports all downloaded images into containerd in parallel. */
export const importImages = `jobs=
for image in ${imageDirectory}/*; do
  ctr -n k8s.io images import --local "$image" >/dev/null & jobs="$jobs $!"
done
for job in $jobs; do wait "$job"; done`
