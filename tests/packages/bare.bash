# A bare Debian to run commands in, as root: sourced by tests of packages and of fresh machines.

# own_mounts COMMAND...: starts the script anew where mounts are seen by it alone, and end with it. Ends with 77, and
# one line, where that is not allowed.
own_mounts() {
    [ "${MOUNTS_ARE_OURS:-}" != yes ] || return 0
    [ "$(id -u)" = 0 ] || { echo "$(basename "$1"): debootstrap and chroot need root"; exit 77; }
    unshare --mount true 2>/dev/null ||
        { echo "$(basename "$1"): this container may not mount (CAP_SYS_ADMIN), and chroot needs /proc"; exit 77; }
    MOUNTS_ARE_OURS=yes exec unshare --mount --propagation private "$@"
}

# bare SUITE FOLDER [debootstrap's options...]: a new copy of such a system in $root, with its mounts and the settings of
# the network here. The one in FOLDER stays for the next time. The status is that of tools/bare-debian.
bare() {
    tools/bare-debian "$@" || return
    ! grep -qF " $root/" /proc/self/mountinfo || { echo "$root has mounts"; return 2; }
    rm -rf "$root"
    cp -a --reflink=auto "$2" "$root" || return
    cp /etc/resolv.conf /etc/hosts "$root/etc" || return
    # No wait for the disk: after a failure of the machine the system is made anew.
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fast"
    mount -t proc proc "$root/proc" && mount -t sysfs -o ro sysfs "$root/sys" && mount -t tmpfs tmpfs "$root/dev/shm" &&
        mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts" || return
    take_network
}

# The names of proxies and certificates, and pip's settings, are the same inside.
outside=()
take_network() {
    local name file files=() own=~
    for name in $(compgen -e); do
        case $name in
        PIP_CACHE_DIR) ;;
        PIP_* | http_proxy | https_proxy | no_proxy | all_proxy | HTTP_PROXY | HTTPS_PROXY | NO_PROXY | ALL_PROXY | \
            SSL_CERT_FILE | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE) outside+=("$name=${!name}") ;;
        esac
    done
    for file in /etc/pip.conf /etc/xdg/pip/pip.conf "${PIP_CONFIG_FILE:-}" ~/.config/pip/pip.conf ~/.pip/pip.conf; do
        [ -f "$file" ] || continue
        files+=("$file")
        case $file in
        "$own"/*) install -D -m 600 "$file" "$root/root/${file#"$own"/}" ;;
        *) install -D -m 600 "$file" "$root$file" ;;
        esac
    done
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates" 2>/dev/null
    # Files and folders that these name.
    while read -r file; do
        if [ -f "$file" ] && [ ! -e "$root$file" ]; then
            install -D -m 644 "$file" "$root$file"
        elif [ -d "$file" ] && [ ! -e "$root$file" ]; then
            mkdir -p "$root$file" && mount --bind -o ro "$file" "$root$file"
        fi
    done < <({ printf '%s\n' "${outside[@]}"; [ ${#files[@]} = 0 ] || cat "${files[@]}"; } |
        sed -n 's/^[^=]*= *//p' | tr ' ,' '\n\n' | sed -n 's#^file://##; s#^/..*#&#p')
}

inside() {
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        "${outside[@]}" "$@"
}
