# helm-cli is helm by another name.
source "${BASH_SOURCE[0]%/*}/helm"
