use axum::http::HeaderValue;

use super::*;

fn headers(signature: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("x-signature", HeaderValue::from_static(signature));
    headers
}

#[test]
fn only_what_is_signed_with_the_secret_is_taken() {
    // The second test case of RFC 2202.
    let (secret, body) = (
        Secret::new("Jefe"),
        b"what do ya want for nothing?".as_slice(),
    );
    let good = "sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79";
    assert_eq!(check(&secret, &headers(good), body), Ok(()));
    let capitals = "sha1=EFFCDF6AE5EB2FA2D27416D5F184DF9C259A7C79";
    assert_eq!(check(&secret, &headers(capitals), body), Ok(()));
    let refused = Err(StatusCode::FORBIDDEN);
    for bad in [
        "sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c78",
        "sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c7",
        "sha1=zzfcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
        "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
        "sha1=",
        "",
    ] {
        assert_eq!(check(&secret, &headers(bad), body), refused, "{bad}");
    }
    assert_eq!(
        check(&secret, &headers(good), b"what do ya want for nothing!"),
        refused
    );
    assert_eq!(check(&Secret::new("Jef"), &headers(good), body), refused);
    assert_eq!(
        check(&secret, &HeaderMap::new(), body),
        Err(StatusCode::UNAUTHORIZED)
    );
}

#[test]
fn any_name_is_one_part_of_a_path() {
    for (name, path) in [
        ("main", "main"),
        ("a/b {c}", "a%2Fb%20%7Bc%7D"),
        ("主", "%E4%B8%BB"),
    ] {
        assert_eq!(percent_encode(name), path);
    }
}
