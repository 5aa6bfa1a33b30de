import { imageDirectory } from './artifacts.ts'

/** Loads all fetched images into containerd, side by side: a piece of a script. */
export const importImages = `jobs=
for image in ${imageDirectory}/*; do
  ctr -n k8s.io images import --local "$image" >/dev/null & jobs="$jobs $!"
done
for job in $jobs; do wait "$job"; done`
