# helm-cli is helm by another name.
source (status dirname)/helm.fish
